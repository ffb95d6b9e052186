-- AlterTable
ALTER TABLE "invite_emails" ADD COLUMN     "suppressed" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "suppressions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "address" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "scope" TEXT NOT NULL DEFAULT 'all',
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    "email_id" UUID,

    CONSTRAINT "suppressions_pkey" PRIMARY KEY ("organization_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "suppressions_address_key" ON "suppressions"("organization_id", "mode", "address", "scope");

-- AddForeignKey
ALTER TABLE "suppressions" ADD CONSTRAINT "suppressions_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
