-- AlterTable
ALTER TABLE "media" ADD COLUMN     "removed_at" TIMESTAMPTZ(3);

-- From here on by hand: what schema.prisma can't express.

-- Whose files are still to go.
CREATE INDEX "media_removal_idx" ON "media" ("deleted_at") WHERE "state" = 'deleted' AND "removed_at" IS NULL;
