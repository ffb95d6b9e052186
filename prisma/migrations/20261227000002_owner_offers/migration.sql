-- Offers to be an owner: the release before makes none.
-- CreateTable
CREATE TABLE "owner_offers" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "from_member_id" UUID NOT NULL,
    "to_member_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "owner_offers_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE INDEX "owner_offers_to_idx" ON "owner_offers"("organization_id", "to_member_id");

-- CreateIndex
CREATE INDEX "owner_offers_from_idx" ON "owner_offers"("organization_id", "from_member_id");

-- AddForeignKey
ALTER TABLE "owner_offers" ADD CONSTRAINT "owner_offers_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "owner_offers" ADD CONSTRAINT "owner_offers_from_fkey" FOREIGN KEY ("organization_id", "from_member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "owner_offers" ADD CONSTRAINT "owner_offers_to_fkey" FOREIGN KEY ("organization_id", "to_member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
