-- New events are delivered before replayed ones, and the next few of either are read by an index, however many wait.
ALTER TABLE "webhook_deliveries" ADD COLUMN "is_replay" BOOLEAN NOT NULL DEFAULT false;
-- Organizations take turns with making the deliveries of their replays.
ALTER TABLE "webhook_endpoints" ADD COLUMN "replay_turn_at" TIMESTAMPTZ(3);
DROP INDEX "webhook_deliveries_due_idx";
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" ("endpoint_id", "is_replay", "next_attempt_at") WHERE "state" = 'waiting';
