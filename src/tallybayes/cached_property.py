"""A cached property without a lock.

Until Python 3.12, `functools.cached_property` has one lock for all instances of a class: threads with different models
wait for each other, and a child that is forked while one of them holds it waits for ever. Here two threads may both
compute a value; they are equal, and one is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 - named as the one it replaces
        """A property that is computed once and then kept in the instance.

        Examples
        --------
        >>> class Circle:
        ...     @cached_property
        ...     def area(self):
        ...         print("computed")
        ...         return 3
        >>> one = Circle()
        >>> one.area + one.area
        computed
        6
        """

        def __init__(self, compute: Any) -> None:
            self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # The instance's own attribute is found first from now on: this is no data descriptor.
            return instance.__dict__.setdefault(self.name, self.compute(instance))
