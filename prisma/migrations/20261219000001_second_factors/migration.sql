-- What members sign in with besides a password, or instead of it. Both tables are new: the release before knows nothing of them.
-- CreateEnum
CREATE TYPE "second_factor_kind" AS ENUM ('totp', 'passkey');

-- CreateTable
CREATE TABLE "second_factors" (
    "id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "kind" "second_factor_kind" NOT NULL,
    "name" TEXT NOT NULL,
    "secret" BYTEA,
    "webauthn_id" TEXT,
    "public_key" BYTEA,
    "counter" BIGINT,
    "transports" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "is_synced" BOOLEAN NOT NULL DEFAULT false,
    "rp_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "second_factors_pkey" PRIMARY KEY ("id"),
    -- Each kind has what it is proved by, and nothing of the other's.
    CONSTRAINT "second_factors_kind_check" CHECK (
      CASE "kind"
        WHEN 'totp' THEN "secret" IS NOT NULL AND num_nonnulls("webauthn_id", "public_key", "counter", "rp_id") = 0
        ELSE "secret" IS NULL AND num_nulls("webauthn_id", "public_key", "counter", "rp_id") = 0
      END
    )
);

-- CreateTable
CREATE TABLE "recovery_codes" (
    "hash" BYTEA NOT NULL,
    "credential_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE INDEX "second_factors_credential_idx" ON "second_factors"("credential_id");

-- CreateIndex
CREATE UNIQUE INDEX "second_factors_webauthn_id_key" ON "second_factors"("webauthn_id");

-- CreateIndex
CREATE INDEX "recovery_codes_credential_idx" ON "recovery_codes"("credential_id");

-- AddForeignKey
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_credential_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
