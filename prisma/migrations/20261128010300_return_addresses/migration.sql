ALTER TABLE "organizations" ADD COLUMN "return_hosts" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "invites" ADD COLUMN "return_url" TEXT;
