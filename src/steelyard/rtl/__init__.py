"""Hardware: designs, what drives and checks them, and the tools that make cells and routes of them."""
