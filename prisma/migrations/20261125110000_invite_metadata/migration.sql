-- AlterTable
ALTER TABLE "invites" ADD COLUMN     "metadata" JSONB;
