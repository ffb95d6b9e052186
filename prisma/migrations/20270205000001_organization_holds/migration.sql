-- CreateTable
CREATE TABLE "organization_holds" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "asked_at" TIMESTAMPTZ(3) NOT NULL,
    "erase_at" TIMESTAMPTZ(3) NOT NULL,
    "reminded_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "counts" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "organization_holds_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "organization_holds_id_key" ON "organization_holds"("id");

-- AddForeignKey
ALTER TABLE "organization_holds" ADD CONSTRAINT "organization_holds_organization_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: every process is to look up keys anew once an organization is on hold, or no longer.
CREATE TRIGGER "organization_holds_keys_changed"
  AFTER INSERT OR DELETE ON "organization_holds"
  FOR EACH STATEMENT EXECUTE FUNCTION "notify_api_keys_changed"();
