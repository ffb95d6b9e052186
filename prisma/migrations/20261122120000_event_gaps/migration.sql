-- Positions that the feed has left out since its database was restored from a backup, and in which database it was last numbered.
ALTER TABLE "event_numbering" ADD COLUMN "database" TEXT;

CREATE TABLE "event_gaps" (
    "after" BIGINT NOT NULL,
    "until" BIGINT NOT NULL,

    CONSTRAINT "event_gaps_pkey" PRIMARY KEY ("after")
);
