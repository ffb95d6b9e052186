-- no-transaction
-- Which of an organization's invites the clock ends next is the first entry of its part. A new name, because invites_due_idx is not
-- the same everywhere: 20261121121000_invite_list_indexes replaced it only from its second text on.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_next_due_idx" ON "invites" ("organization_id", "expires_at")
  WHERE "status" IN ('pending', 'accepted');
