-- Ways in which members have narrowed the list of invites.
CREATE TABLE "saved_filters" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "is_shared" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "saved_filters_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "saved_filters_name_key" ON "saved_filters"("organization_id", "member_id", "name");

ALTER TABLE "saved_filters" ADD CONSTRAINT "saved_filters_member_fkey" FOREIGN KEY ("organization_id", "member_id") REFERENCES "members"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
