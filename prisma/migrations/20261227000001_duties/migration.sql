-- What members do besides their roles, and who invited them. The release before reads none of it: to it who has a duty alone may do nothing.
ALTER TABLE "members" ADD COLUMN "duties" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
ADD COLUMN "invited_by_id" UUID;

-- Null: no owner was named yet.
ALTER TABLE "organizations" ADD COLUMN "owner_named_at" TIMESTAMPTZ(3);
