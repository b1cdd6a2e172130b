"""Uses a server with the client that openapi-python-client makes of openapi.yaml: label, teach, undo.

usage: python client.py SERVER PHOTO
"""

import sys
from io import BytesIO
from pathlib import Path

from photos_client import Client
from photos_client.api.label import label
from photos_client.api.look import list_classes
from photos_client.api.teach import learn, undo
from photos_client.models import LabelFilesBody, LabelledPhoto, Unread
from photos_client.types import File

server, photo = sys.argv[1], Path(sys.argv[2]).read_bytes()
with Client(server, raise_on_unexpected_status=True) as client:

    def classes():
        return [each.name for each in list_classes.sync(client=client).classes]

    def file(content):
        return File(BytesIO(content), "photo.jpg", "image/jpeg")

    (one,) = label.sync(client=client, body=file(photo)).images
    both = label.sync(client=client, body=LabelFilesBody([file(photo), file(b"no photo")])).images
    assert isinstance(both[0], LabelledPhoto) and both[0].label == one.label, both
    assert isinstance(both[1], Unread) and both[1].error, both
    known = classes()
    learn.sync(client=client, body=file(photo), class_="taught by Python")
    taught = classes()
    undo.sync(client=client)
    assert "taught by Python" in taught and classes() == known, (known, taught)
    print(f"Python (openapi-python-client): labelled as {one.label}, taught, undone")
