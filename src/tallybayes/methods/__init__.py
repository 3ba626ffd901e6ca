"""Methods of `Model`, by what they are for: functions that `model.py` takes into the class."""
