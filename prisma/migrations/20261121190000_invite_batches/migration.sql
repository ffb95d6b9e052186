-- CreateEnum
CREATE TYPE "invite_batch_row_state" AS ENUM ('ready', 'invited', 'already', 'repeated', 'invalid', 'refused');

-- CreateTable
CREATE TABLE "invite_batches" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "created_by_id" UUID NOT NULL,
    "terms" JSONB NOT NULL,
    "unused_columns" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "invite_batches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invite_batch_rows" (
    "batch_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "state" "invite_batch_row_state" NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "terms" JSONB NOT NULL,
    "issues" JSONB NOT NULL DEFAULT '[]',
    "repeats" INTEGER,
    "invite_id" UUID,

    CONSTRAINT "invite_batch_rows_pkey" PRIMARY KEY ("batch_id","number")
);

-- CreateIndex
CREATE INDEX "invite_batches_assessment_idx" ON "invite_batches"("organization_id", "assessment_id");

-- CreateIndex
CREATE INDEX "invite_batches_created_by_idx" ON "invite_batches"("organization_id", "created_by_id");

-- CreateIndex
CREATE INDEX "invite_batches_created_at_idx" ON "invite_batches"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "invite_batches_organization_id_key" ON "invite_batches"("organization_id", "id");

-- CreateIndex
CREATE INDEX "invite_batch_rows_state_idx" ON "invite_batch_rows"("organization_id", "batch_id", "state", "number");

-- CreateIndex
CREATE INDEX "invite_batch_rows_invite_idx" ON "invite_batch_rows"("organization_id", "invite_id");

-- AddForeignKey
ALTER TABLE "invite_batches" ADD CONSTRAINT "invite_batches_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invite_batches" ADD CONSTRAINT "invite_batches_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invite_batch_rows" ADD CONSTRAINT "invite_batch_rows_batch_fkey" FOREIGN KEY ("organization_id", "batch_id") REFERENCES "invite_batches"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invite_batch_rows" ADD CONSTRAINT "invite_batch_rows_invite_fkey" FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
