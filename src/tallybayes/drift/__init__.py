"""What has changed since a model was fitted: class shares, columns, and the prior (docs/drift.md)."""
