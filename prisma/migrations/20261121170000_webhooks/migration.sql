-- CreateEnum
CREATE TYPE "webhook_mode" AS ENUM ('live', 'test', 'all');

-- CreateEnum
CREATE TYPE "webhook_state" AS ENUM ('active', 'disabled');

-- CreateEnum
CREATE TYPE "webhook_disabled_reason" AS ENUM ('manual', 'failing', 'gone');

-- CreateEnum
CREATE TYPE "webhook_delivery_state" AS ENUM ('waiting', 'delivered', 'failed');

-- AlterTable
ALTER TABLE "idempotency_records" ADD COLUMN     "sealed" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "types" TEXT[],
    "mode" "webhook_mode" NOT NULL,
    "description" TEXT NOT NULL,
    "state" "webhook_state" NOT NULL DEFAULT 'active',
    "state_since" TIMESTAMPTZ(3) NOT NULL,
    "disabled_reason" "webhook_disabled_reason",
    "secret" BYTEA NOT NULL,
    "previous_secret" BYTEA,
    "previous_secret_until" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "warnings" SMALLINT NOT NULL DEFAULT 0,
    "position" BIGINT NOT NULL,
    "missed_from" BIGINT,
    "replay_position" BIGINT,
    "replay_until" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "organization_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'waiting',
    "queued_at" TIMESTAMPTZ(3) NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "attempts_before" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("organization_id","endpoint_id","event_id")
);

-- CreateTable
CREATE TABLE "webhook_attempts" (
    "organization_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "milliseconds" INTEGER NOT NULL,
    "status" INTEGER,
    "error" TEXT NOT NULL,
    "answer" TEXT NOT NULL,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("organization_id","endpoint_id","event_id","number")
);

-- CreateTable
CREATE TABLE "webhook_fanout" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_fanout_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_endpoints_organization_id_key" ON "webhook_endpoints"("organization_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_endpoint_idx" ON "webhook_deliveries"("organization_id", "endpoint_id", "queued_at", "event_id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_state_idx" ON "webhook_deliveries"("organization_id", "endpoint_id", "state", "queued_at", "event_id");

-- AddForeignKey
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_fkey" FOREIGN KEY ("organization_id", "endpoint_id") REFERENCES "webhook_endpoints"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_fkey" FOREIGN KEY ("organization_id", "endpoint_id", "event_id") REFERENCES "webhook_deliveries"("organization_id", "endpoint_id", "event_id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: what schema.prisma can't express.

-- What is to be attempted next, for each endpoint.
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" ("endpoint_id", "next_attempt_at") WHERE "state" = 'waiting';

-- Every delivery that comes in is soon updated twice: what that leaves behind is to be tidied up before there is much of it.
ALTER TABLE "webhook_deliveries" SET (autovacuum_vacuum_scale_factor = 0.02);

-- There is one. Its row changes all the time: room beside it keeps the changes on its page.
ALTER TABLE "webhook_fanout" ADD CONSTRAINT "webhook_fanout_one_check" CHECK ("id" = 1);
ALTER TABLE "webhook_fanout" SET (fillfactor = 10);
INSERT INTO "webhook_fanout" DEFAULT VALUES;
