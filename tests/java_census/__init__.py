"""The interfaces of Deeplearning4j's classes against ours: what is there, what is declined, what is missing."""
