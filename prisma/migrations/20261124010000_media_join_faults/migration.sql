-- AlterTable
ALTER TABLE "media" ADD COLUMN     "join_faults" INTEGER NOT NULL DEFAULT 0;
