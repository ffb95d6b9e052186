-- AlterTable
ALTER TABLE "submissions" ADD COLUMN     "earlier_tabs" UUID[] DEFAULT ARRAY[]::UUID[];

-- AlterTable
ALTER TABLE "takes" ADD COLUMN     "chosen_at" TIMESTAMPTZ(3),
ADD COLUMN     "cut_off" BOOLEAN NOT NULL DEFAULT false;
