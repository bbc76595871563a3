"""A user's own script against a user's own API object: recording, replay, a pytest fixture, an evaluator."""
