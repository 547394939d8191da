"""The web: pages on a results database, from a server or as files. It shows what ``analyse`` and ``publish`` answer."""
