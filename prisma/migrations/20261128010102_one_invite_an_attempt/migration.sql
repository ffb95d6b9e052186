-- It takes its predecessor's name: a process of a release before, which knows invites_recipient_key by name, finds what it looks for, and
-- makes first attempts, of which there is one as before.
DROP INDEX "invites_recipient_key";
ALTER INDEX "invites_attempt_recipient_key" RENAME TO "invites_recipient_key";
