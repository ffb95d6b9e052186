-- AlterTable
ALTER TABLE "tags" ADD COLUMN     "mode" "key_mode" NOT NULL DEFAULT 'live';
