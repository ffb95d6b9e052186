-- AlterTable
ALTER TABLE "archives" ADD COLUMN     "download_id" UUID,
ADD COLUMN     "download_leased_until" TIMESTAMPTZ(3),
ADD COLUMN     "download_session_id" UUID,
ADD COLUMN     "download_started_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "idempotency_records" DROP COLUMN "sealed",
ADD COLUMN     "sealed_for" TEXT;
