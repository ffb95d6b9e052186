-- CreateEnum
CREATE TYPE "account_link_kind" AS ENUM ('join', 'reset');

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "previous_expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_hash" BYTEA;

-- AlterTable
ALTER TABLE "members" ADD COLUMN     "credential_id" UUID;

-- CreateTable
CREATE TABLE "credentials" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "password_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credentials_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "credential_id" UUID NOT NULL,
    "user_agent" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_attempts" (
    "key" BYTEA NOT NULL,
    "count" INTEGER NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_attempts_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "account_links" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "kind" "account_link_kind" NOT NULL,
    "credential_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "account_links_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "member_emails" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "link_id" UUID,
    "state" "email_state" NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failure" "email_failure",
    "reason" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "member_emails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "action" TEXT NOT NULL,
    "target_kind" TEXT,
    "target_id" UUID,
    "details" JSONB NOT NULL DEFAULT '{}',
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sessions_credential_idx" ON "sessions"("credential_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");

-- CreateIndex
CREATE INDEX "sign_in_attempts_ends_at_idx" ON "sign_in_attempts"("ends_at");

-- CreateIndex
CREATE INDEX "account_links_member_idx" ON "account_links"("organization_id", "member_id");

-- CreateIndex
CREATE INDEX "account_links_credential_idx" ON "account_links"("credential_id");

-- CreateIndex
CREATE INDEX "account_links_expires_at_idx" ON "account_links"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "account_links_organization_id_key" ON "account_links"("organization_id", "id");

-- CreateIndex
CREATE INDEX "member_emails_member_idx" ON "member_emails"("organization_id", "member_id");

-- CreateIndex
CREATE INDEX "member_emails_link_idx" ON "member_emails"("organization_id", "link_id");

-- CreateIndex
CREATE INDEX "member_emails_created_at_idx" ON "member_emails"("created_at");

-- CreateIndex
CREATE INDEX "audit_entries_at_idx" ON "audit_entries"("organization_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_sweep_idx" ON "audit_entries"("at");

-- AddForeignKey
ALTER TABLE "members" ADD CONSTRAINT "members_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE SET NULL ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "member_emails" ADD CONSTRAINT "member_emails_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "member_emails" ADD CONSTRAINT "member_emails_link_fkey" FOREIGN KEY ("organization_id", "link_id") REFERENCES "account_links"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand: one person, one address, in whatever case.
CREATE UNIQUE INDEX "credentials_email_key" ON "credentials" (lower("email"));

-- By hand: a rotated key, too, is to be looked up again by every process.
DROP TRIGGER "api_keys_changed" ON "api_keys";
CREATE TRIGGER "api_keys_changed"
  AFTER DELETE OR UPDATE OF "hash", "mode", "expires_at", "revoked_at", "created_by_id", "previous_hash", "previous_expires_at" ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys_changed"();
