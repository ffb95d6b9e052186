-- Nullable: no row is written.
ALTER TABLE "organizations" ADD COLUMN     "page_links" JSONB;

-- AlterTable
ALTER TABLE "submissions" ADD COLUMN     "consent_own_language" TEXT,
ADD COLUMN     "consent_own_version" INTEGER;

-- CreateTable
CREATE TABLE "consent_texts" (
    "organization_id" UUID NOT NULL,
    "language" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "body" TEXT NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "consent_texts_pkey" PRIMARY KEY ("organization_id","language","version")
);

-- CreateIndex
CREATE INDEX "consent_texts_created_by_idx" ON "consent_texts"("organization_id", "created_by_id");

-- AddForeignKey
ALTER TABLE "consent_texts" ADD CONSTRAINT "consent_texts_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "consent_texts" ADD CONSTRAINT "consent_texts_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
