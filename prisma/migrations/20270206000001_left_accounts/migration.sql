-- AlterTable
ALTER TABLE "users" ADD COLUMN     "left_since" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "credentials" ADD COLUMN     "left_since" TIMESTAMPTZ(3);
