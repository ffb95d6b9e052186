-- AlterTable
ALTER TABLE "credentials" ADD COLUMN     "auth_version" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "proven_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "auth_version" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "closed_for" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
ADD COLUMN     "device_id" UUID,
ADD COLUMN     "end_reason" TEXT,
ADD COLUMN     "ended_at" TIMESTAMPTZ(3),
ADD COLUMN     "fresh_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "session_proofs" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "provider_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "idp_sid" TEXT,
    "amr" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "acr" TEXT,
    "auth_time" TIMESTAMPTZ(3),

    CONSTRAINT "session_proofs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "devices" (
    "id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "auth_version" INTEGER NOT NULL DEFAULT 0,
    "user_agent" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "trusted_until" TIMESTAMPTZ(3),

    CONSTRAINT "devices_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "parked_forms" (
    "id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "parked_forms_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "spent_proofs" (
    "key" TEXT NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spent_proofs_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "organization_security" (
    "organization_id" UUID NOT NULL,
    "sso_enforced_at" TIMESTAMPTZ(3),
    "second_factor_from" TIMESTAMPTZ(3),
    "device_days" INTEGER NOT NULL DEFAULT 30,
    "idle_minutes" INTEGER NOT NULL DEFAULT 720,
    "session_hours" INTEGER NOT NULL DEFAULT 720,
    "sso_session_hours" INTEGER NOT NULL DEFAULT 12,
    "networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "key_networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "key_max_days" INTEGER,
    "audit_kept_days" INTEGER NOT NULL DEFAULT 365,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organization_security_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "session_proofs_kind_key" ON "session_proofs"("session_id", "kind", "provider_id") NULLS NOT DISTINCT;

-- CreateIndex
CREATE INDEX "devices_credential_idx" ON "devices"("credential_id", "last_seen_at", "id");

-- CreateIndex
CREATE INDEX "devices_last_seen_at_idx" ON "devices"("last_seen_at");

-- CreateIndex
CREATE UNIQUE INDEX "devices_token_key" ON "devices"("token_hash", "credential_id");

-- CreateIndex
CREATE INDEX "parked_forms_credential_idx" ON "parked_forms"("credential_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "parked_forms_ends_at_idx" ON "parked_forms"("ends_at");

-- CreateIndex
CREATE INDEX "spent_proofs_ends_at_idx" ON "spent_proofs"("ends_at");

-- AddForeignKey
ALTER TABLE "session_proofs" ADD CONSTRAINT "session_proofs_session_fkey" FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "devices" ADD CONSTRAINT "devices_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "parked_forms" ADD CONSTRAINT "parked_forms_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "organization_security" ADD CONSTRAINT "organization_security_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
