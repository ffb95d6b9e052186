-- AlterTable
ALTER TABLE "submissions" ADD COLUMN     "media_due_at" TIMESTAMPTZ(3) DEFAULT '1970-01-01 00:00:00 +00:00';

-- AlterTable
ALTER TABLE "media" ADD COLUMN     "refused_at" TIMESTAMPTZ(3);
