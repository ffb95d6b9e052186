-- How often somebody was refused for the same reason in an hour. The release before writes none, and forgets them as it does.
ALTER TABLE "spent_proofs" ADD COLUMN "times" INTEGER NOT NULL DEFAULT 1;
