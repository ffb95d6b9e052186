-- The one row there is while the mail server takes no mail from the service, whatever the mail.
CREATE TABLE "mail_outages" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "about" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "probes" INTEGER NOT NULL DEFAULT 0,
    "pause_seconds" INTEGER NOT NULL,
    "next_probe_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_outages_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "mail_outages_one_row" CHECK ("id" = 1)
);

-- Until when a mail waits, because enough mails were sent for a day.
ALTER TABLE "invite_emails" ADD COLUMN "delayed_until" TIMESTAMPTZ(3);

-- When the candidate declined. Who declined before this was kept is known by the event, for as long as there is one.
ALTER TABLE "invites" ADD COLUMN "declined_at" TIMESTAMPTZ(3);
