-- What the operator allows an organization a day, and by an index when its waiting mails leave.
ALTER TABLE "organizations" ADD COLUMN "mails_per_day" INTEGER;
CREATE INDEX "invite_emails_waiting_idx" ON "invite_emails" ("organization_id", "delayed_until") WHERE "state" = 'queued';
