"""Parts of train_backbone.py: packed images, networks, augmentation, evaluation, checkpoints, ONNX."""
