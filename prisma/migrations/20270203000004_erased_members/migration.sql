-- AlterTable
ALTER TABLE "members" ADD COLUMN     "erased_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "erasures" ADD COLUMN     "member_id" UUID;
