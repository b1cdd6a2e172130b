"""Labels photos, and learns new classes from a few of each.

The program pipeline, which is in this package, does the work; everything here starts it.
"""

from photo_pipeline.classifier import FewShotClassifier
from photo_pipeline.model import Model
from photo_pipeline.program import PipelineError

__all__ = ["FewShotClassifier", "Model", "PipelineError"]
