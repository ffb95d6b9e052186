-- CreateTable
CREATE TABLE "organization_retention" (
    "organization_id" UUID NOT NULL,
    "completed_days" INTEGER,
    "expired_days" INTEGER,
    "revoked_days" INTEGER,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organization_retention_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE INDEX "organization_retention_next_at_idx" ON "organization_retention"("next_at");

-- AddForeignKey
ALTER TABLE "organization_retention" ADD CONSTRAINT "organization_retention_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
