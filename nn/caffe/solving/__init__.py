"""What Caffe's solver computes and says: rates, updates, the smoothed loss, history, lines of its log, commands."""
