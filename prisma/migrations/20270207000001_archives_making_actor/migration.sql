-- Of one candidate, and of one member, one is made at a time for whoever asks: nobody is led to one that only somebody else can download.
CREATE UNIQUE INDEX "archives_making_candidate_actor_key" ON "archives"("organization_id", "address_code", "actor_kind", "actor_id")
  NULLS NOT DISTINCT WHERE "finished_at" IS NULL AND "address_code" IS NOT NULL;
CREATE UNIQUE INDEX "archives_making_member_actor_key" ON "archives"("organization_id", "member_id", "actor_kind", "actor_id")
  NULLS NOT DISTINCT WHERE "finished_at" IS NULL AND "member_id" IS NOT NULL;
DROP INDEX "archives_making_candidate_key";
DROP INDEX "archives_making_member_key";
