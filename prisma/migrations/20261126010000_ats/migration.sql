-- CreateTable
CREATE TABLE "ats_connections" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "ats" TEXT NOT NULL,
    "mode" "key_mode" NOT NULL,
    "their_key" BYTEA,
    "their_last_four" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ats_connections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ats_keys" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "last_four" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "ats_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ats_orders" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "natural_key" TEXT NOT NULL,
    "key_id" UUID NOT NULL,
    "invite_id" UUID,
    "callback_url" TEXT,
    "profile_url" TEXT NOT NULL DEFAULT '',
    "after_sequence" BIGINT NOT NULL DEFAULT 0,
    "start_position" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "cancelled_at" TIMESTAMPTZ(3),
    "reported" TEXT,
    "reported_at" TIMESTAMPTZ(3),
    "last_error" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "ats_orders_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ats_reports" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "order_id" UUID,
    "position" BIGINT NOT NULL,
    "standing" TEXT NOT NULL,
    "happened_at" TIMESTAMPTZ(3) NOT NULL,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'waiting',
    "queued_at" TIMESTAMPTZ(3) NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "attempt_count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "ats_reports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ats_calls" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "order_id" UUID,
    "is_theirs" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "status" INTEGER,
    "error" TEXT NOT NULL,
    "answer" TEXT NOT NULL DEFAULT '',
    "milliseconds" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ats_calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ats_handover" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "ats_handover_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "ats_connections_organization_id_key" ON "ats_connections"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ats_connections_ats_key" ON "ats_connections"("organization_id", "ats", "mode");

-- CreateIndex
CREATE INDEX "ats_keys_connection_idx" ON "ats_keys"("organization_id", "connection_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ats_keys_hash_key" ON "ats_keys"("hash");

-- CreateIndex
CREATE INDEX "ats_orders_invite_idx" ON "ats_orders"("organization_id", "invite_id");

-- CreateIndex
CREATE INDEX "ats_orders_connection_idx" ON "ats_orders"("organization_id", "connection_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "ats_orders_start_position_idx" ON "ats_orders"("start_position");

-- CreateIndex
CREATE UNIQUE INDEX "ats_orders_organization_id_key" ON "ats_orders"("organization_id", "id");

-- CreateIndex
CREATE INDEX "ats_reports_order_idx" ON "ats_reports"("organization_id", "order_id", "position", "id");

-- CreateIndex
CREATE INDEX "ats_reports_connection_idx" ON "ats_reports"("organization_id", "connection_id", "queued_at");

-- CreateIndex
CREATE INDEX "ats_reports_queued_at_idx" ON "ats_reports"("queued_at");

-- CreateIndex
CREATE INDEX "ats_calls_connection_idx" ON "ats_calls"("organization_id", "connection_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "ats_calls_order_idx" ON "ats_calls"("organization_id", "order_id");

-- CreateIndex
CREATE INDEX "ats_calls_created_at_idx" ON "ats_calls"("created_at");

-- AddForeignKey
ALTER TABLE "ats_connections" ADD CONSTRAINT "ats_connections_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ats_keys" ADD CONSTRAINT "ats_keys_connection_fkey" FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ats_keys" ADD CONSTRAINT "ats_keys_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ats_orders" ADD CONSTRAINT "ats_orders_connection_fkey" FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ats_orders" ADD CONSTRAINT "ats_orders_invite_fkey" FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ats_reports" ADD CONSTRAINT "ats_reports_connection_fkey" FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ats_reports" ADD CONSTRAINT "ats_reports_order_fkey" FOREIGN KEY ("organization_id", "order_id") REFERENCES "ats_orders"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ats_calls" ADD CONSTRAINT "ats_calls_connection_fkey" FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ats_calls" ADD CONSTRAINT "ats_calls_order_fkey" FOREIGN KEY ("organization_id", "order_id") REFERENCES "ats_orders"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: what schema.prisma can't express.

-- An order that an ATS repeats is the same; one that it has cancelled is over, and the next is another.
CREATE UNIQUE INDEX "ats_orders_natural_key" ON "ats_orders" ("connection_id", "natural_key") WHERE "cancelled_at" IS NULL;

-- What is to be attempted next, for each connection, and what of an order comes first.
CREATE INDEX "ats_reports_due_idx" ON "ats_reports" ("connection_id", "next_attempt_at") WHERE "state" = 'waiting';
CREATE INDEX "ats_reports_waiting_idx" ON "ats_reports" ("order_id", "position", "id") WHERE "state" = 'waiting';

-- There is one. Its row changes all the time: room beside it keeps the changes on its page.
ALTER TABLE "ats_handover" ADD CONSTRAINT "ats_handover_one_check" CHECK ("id" = 1);
ALTER TABLE "ats_handover" SET (fillfactor = 10);
INSERT INTO "ats_handover" DEFAULT VALUES;
