-- What became of a mail after the mail server took it.
ALTER TABLE "invite_emails" ADD COLUMN     "bounce" TEXT,
ADD COLUMN     "bounce_reason" TEXT,
ADD COLUMN     "bounce_status" TEXT,
ADD COLUMN     "bounced_at" TIMESTAMPTZ(3),
ADD COLUMN     "complained_at" TIMESTAMPTZ(3);

CREATE TABLE "mail_events" (
    "id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "email_id" UUID,
    "body" BYTEA NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "processed_at" TIMESTAMPTZ(3),

    CONSTRAINT "mail_events_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "mail_events_received_at_idx" ON "mail_events"("received_at");
CREATE UNIQUE INDEX "mail_events_provider_event_key" ON "mail_events"("provider", "event_id");
