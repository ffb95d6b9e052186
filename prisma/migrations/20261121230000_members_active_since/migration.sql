-- AlterTable
ALTER TABLE "members" ADD COLUMN     "active_since" TIMESTAMPTZ(3);
