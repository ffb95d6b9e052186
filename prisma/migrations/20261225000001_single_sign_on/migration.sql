-- AlterTable
ALTER TABLE "members" ADD COLUMN     "own_way" TEXT;

-- CreateTable
CREATE TABLE "sign_in_providers" (
    "id" UUID NOT NULL,
    "organization_id" UUID,
    "name" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "client_auth" TEXT NOT NULL,
    "client_secret" BYTEA NOT NULL,
    "secret_ends_at" TIMESTAMPTZ(3),
    "required_claims" JSONB NOT NULL DEFAULT '{}',
    "adds_members" BOOLEAN NOT NULL DEFAULT false,
    "new_roles" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "second_factor" TEXT NOT NULL DEFAULT 'ours',
    "acr_values" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "tested_at" TIMESTAMPTZ(3),
    "tested_by_id" UUID,
    "tested_session" UUID,
    "tested_hash" BYTEA,
    "gives_auth_time" BOOLEAN NOT NULL DEFAULT false,
    "relink_until" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "last_error_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_providers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in_domains" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "domain" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "verified_at" TIMESTAMPTZ(3),
    "checked_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_domains_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identities" (
    "id" UUID NOT NULL,
    "provider_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "credential_id" UUID NOT NULL,
    "organization_id" UUID,
    "member_id" UUID,
    "email_seen" TEXT,
    "linked_by" TEXT NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "identities_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_providers_organization_id_key" ON "sign_in_providers"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_domains_organization_id_key" ON "sign_in_domains"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_domains_domain_key" ON "sign_in_domains"("organization_id", "domain");

-- CreateIndex
CREATE INDEX "identities_provider_idx" ON "identities"("organization_id", "provider_id");

-- A domain is one organization's, once it has shown that it is.
CREATE UNIQUE INDEX "sign_in_domains_verified_key" ON "sign_in_domains"("domain") WHERE "verified_at" IS NOT NULL;

-- CreateIndex
CREATE INDEX "identities_credential_idx" ON "identities"("credential_id");

-- CreateIndex
CREATE INDEX "identities_member_idx" ON "identities"("organization_id", "member_id");

-- CreateIndex
CREATE UNIQUE INDEX "identities_organization_id_key" ON "identities"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "identities_subject_key" ON "identities"("provider_id", "issuer", "subject");

-- AddForeignKey
ALTER TABLE "sign_in_providers" ADD CONSTRAINT "sign_in_providers_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "sign_in_domains" ADD CONSTRAINT "sign_in_domains_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "identities" ADD CONSTRAINT "identities_provider_fkey" FOREIGN KEY ("organization_id", "provider_id") REFERENCES "sign_in_providers"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "identities" ADD CONSTRAINT "identities_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "identities" ADD CONSTRAINT "identities_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
