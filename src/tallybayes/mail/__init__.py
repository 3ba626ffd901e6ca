"""A mail filter: messages in, classes out; learned, forgotten and merged exactly.

`MailFilter` holds the counts and answers; `sources.mail` reads mailboxes, and `cli.mail` has the commands.
"""

from tallybayes.mail.explain import MailExplanation
from tallybayes.mail.mail_filter import MailFilter
from tallybayes.mail.verdict import Verdict

__all__ = ["MailExplanation", "MailFilter", "Verdict"]
