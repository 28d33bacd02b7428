"""What export and quantising make of a real encoder: size, accuracy, speed."""
