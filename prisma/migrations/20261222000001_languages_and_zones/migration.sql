-- AlterTable
ALTER TABLE "assessments" ADD COLUMN     "interface_language" TEXT;

-- AlterTable
ALTER TABLE "credentials" ADD COLUMN     "language" TEXT;

-- AlterTable
ALTER TABLE "invites" ADD COLUMN     "chosen_language" TEXT,
ADD COLUMN     "language" TEXT,
ADD COLUMN     "time_zone" TEXT;

-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "language" TEXT NOT NULL DEFAULT 'en',
ADD COLUMN     "languages_offered" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "time_zone" TEXT NOT NULL DEFAULT 'UTC',
ADD COLUMN     "week_days_off" SMALLINT[] NOT NULL DEFAULT ARRAY[6, 7]::SMALLINT[];

-- AlterTable
ALTER TABLE "submissions" ADD COLUMN     "consent_language" TEXT,
ADD COLUMN     "consent_text_hash" BYTEA;
