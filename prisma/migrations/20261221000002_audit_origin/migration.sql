-- From where something was done, and its place in the feed of the audit log.
ALTER TABLE "audit_entries" ADD COLUMN "address" TEXT,
ADD COLUMN "user_agent" TEXT,
ADD COLUMN "session_id" UUID,
ADD COLUMN "request_id" TEXT,
ADD COLUMN "position" BIGINT;

CREATE TABLE "audit_numbering" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,
    "database" TEXT,

    CONSTRAINT "audit_numbering_pkey" PRIMARY KEY ("id")
);

-- By hand: there is one numbering, whose row is written often.
ALTER TABLE "audit_numbering" ADD CONSTRAINT "audit_numbering_one_check" CHECK ("id" = 1);
ALTER TABLE "audit_numbering" SET (fillfactor = 10);
INSERT INTO "audit_numbering" DEFAULT VALUES;
