-- Apart from the lists of candidates: a process of the release before would take what it does not know for these, and invite.
CREATE TYPE "bulk_action" AS ENUM ('resend', 'extend', 'tag', 'assign', 'revoke');
CREATE TYPE "bulk_row_state" AS ENUM ('ready', 'done', 'invalid', 'refused');

CREATE TABLE "bulk_changes" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "action" "bulk_action" NOT NULL,
    "given" JSONB NOT NULL,
    "created_by_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "stopped_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "bulk_changes_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "bulk_change_rows" (
    "bulk_change_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "state" "bulk_row_state" NOT NULL,
    "issues" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "bulk_change_rows_pkey" PRIMARY KEY ("bulk_change_id", "number")
);

CREATE UNIQUE INDEX "bulk_changes_organization_id_key" ON "bulk_changes"("organization_id", "id");
CREATE INDEX "bulk_changes_mode_idx" ON "bulk_changes"("organization_id", "mode", "id");
CREATE INDEX "bulk_changes_created_by_idx" ON "bulk_changes"("organization_id", "created_by_id");
CREATE INDEX "bulk_changes_created_at_idx" ON "bulk_changes"("created_at");
CREATE INDEX "bulk_change_rows_state_idx" ON "bulk_change_rows"("organization_id", "bulk_change_id", "state", "number");
CREATE INDEX "bulk_change_rows_invite_idx" ON "bulk_change_rows"("organization_id", "invite_id");

ALTER TABLE "bulk_changes" ADD CONSTRAINT "bulk_changes_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "bulk_changes" ADD CONSTRAINT "bulk_changes_created_by_fkey" FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members"("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "bulk_change_rows" ADD CONSTRAINT "bulk_change_rows_change_fkey" FOREIGN KEY ("organization_id", "bulk_change_id") REFERENCES "bulk_changes"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "bulk_change_rows" ADD CONSTRAINT "bulk_change_rows_invite_fkey" FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
