"""Films: files that take frames in bounded memory and are written as a whole."""

import io
import os
import tempfile
from abc import ABC, abstractmethod
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError
from rt_gym.files import atomic_write, read_bytes, require_writable, shown
from rt_gym.render.caption import STRIP
from rt_gym.render.legend import legend_height

Pixels = NDArray[np.uint8]

_LONGEST = 640  # pixels of a frame's longer side, without the caption
_SHORTEST = (320, 160)  # the least width and height with which a caption fits
_BLOCK = 16  # video codecs want whole blocks
_LAST = 2.0  # seconds for which the last frame stays


def frame_size(columns: int, rows: int, zoom: int | None = None) -> tuple[int, int]:
    """Return the width and the height of a frame that shows a map, or ``zoom`` x ``zoom`` cells of it, without rims.

    Below the map there is room for a legend and a caption.
    """
    columns, rows = (length if zoom is None else min(zoom, length) for length in (columns, rows))
    scale = _LONGEST // max(columns, rows) or _LONGEST / max(columns, rows)
    width = _whole_blocks(max(ceil(columns * scale), _SHORTEST[0]))
    return width, _whole_blocks(max(ceil(rows * scale) + STRIP, _SHORTEST[1]) + legend_height(width))


def _whole_blocks(length: int) -> int:
    return -(-length // _BLOCK) * _BLOCK


class Film(ABC):
    """A file that grows frame by frame and is written at the end, all at once.

    Attributes:
        path: where it is written.
        most: how many frames it takes; if there would be more, the caller leaves some out.
    """

    most = 1

    def __init__(self, path: Path, fps: float) -> None:
        self.path, self.fps = path, fps

    def stride(self, moves: int, every: int) -> int:
        """Return the smallest multiple of ``every`` that gives no more frames of a run than the film takes."""
        return every * max(1, -(-moves // (every * max(1, self.most - 1))))

    @abstractmethod
    def add(self, image: Pixels) -> None:
        """Take the next frame."""

    @abstractmethod
    def data(self) -> bytes:
        """Return the whole file."""

    def write(self) -> None:
        """Write the file."""
        atomic_write(self.path, self.data())

    def close(self) -> None:  # noqa: B027
        """Let go of whatever was opened, whether or not the file was written."""


class Picture(Film):
    """A PNG of the last frame."""

    def add(self, image: Pixels) -> None:
        """Take the next frame in place of the last."""
        self._image = image

    def data(self) -> bytes:
        """Return the picture."""
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(self._image).save(buffer, "PNG")
        return buffer.getvalue()


class Gif(Film):
    """An animated GIF that repeats for ever. Its frames are kept in memory, a byte for each pixel."""

    most = 300

    def __init__(self, path: Path, fps: float) -> None:
        super().__init__(path, fps)
        self._frames: list[Any] = []

    def add(self, image: Pixels) -> None:
        """Take the next frame."""
        from PIL import Image

        # Of Pillow's methods this one is five times as fast and keeps closest to the colours of maps.
        frame = Image.fromarray(image).quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        self._frames.append(frame)

    def data(self) -> bytes:
        """Return the animation."""
        first, *rest = self._frames
        times = [round(1000 / self.fps)] * len(rest) + [round(1000 * _LAST)]
        buffer = io.BytesIO()
        first.save(buffer, "GIF", save_all=True, append_images=rest, duration=times, loop=0)
        return buffer.getvalue()


class Video(Film):
    """An MP4, encoded while frames come in, by the encoder that imageio-ffmpeg brings."""

    most = 3000

    def __init__(self, path: Path, fps: float) -> None:
        super().__init__(path, fps)
        try:
            self._ffmpeg: Any = import_module("imageio_ffmpeg")
            self._ffmpeg.get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            raise InputError(
                f'{shown(path)}: a video needs imageio-ffmpeg, which is not installed; pip install "rt_gym[video]"'
                " brings it"
            ) from None
        self._folder = tempfile.TemporaryDirectory(prefix="rt-gym-")
        self._name = os.path.join(self._folder.name, "film.mp4")
        self._encoder: Any = None

    def add(self, image: Pixels) -> None:
        """Encode the next frame."""
        if self._encoder is None:
            height, width = image.shape[:2]
            self._encoder = self._ffmpeg.write_frames(self._name, (width, height), fps=self.fps, quality=8)
            self._encoder.send(None)
        self._last = np.ascontiguousarray(image)
        self._encoder.send(self._last)

    def data(self) -> bytes:
        """Return the video."""
        for _ in range(round(_LAST * self.fps)):
            self._encoder.send(self._last)
        self._encoder.close()
        return read_bytes(self._name, 1 << 30)

    def close(self) -> None:
        """Stop the encoder and throw its file away."""
        if self._encoder is not None:
            self._encoder.close()
        self._folder.cleanup()


_KINDS: dict[str, type[Film]] = {".gif": Gif, ".mp4": Video, ".png": Picture}


def open_film(path: Path, fps: float) -> Film:
    """Return a film for a file, after making sure that it can be written; nothing is written yet.

    Raises:
        InputError: for an unknown ending, a place that cannot be written to, or a missing encoder.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"{shown(path)}: a run is saved to a path that ends in {', '.join(_KINDS)}")
    require_writable(path)
    return kind(path, fps)
