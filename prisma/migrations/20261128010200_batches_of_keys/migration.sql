-- A batch that an API key gives has no member. To a process of a release before it is damaged: its page, and its job, are for newer ones.
ALTER TABLE "invite_batches" ALTER COLUMN "created_by_id" DROP NOT NULL;
ALTER TABLE "invite_batches" ADD COLUMN "created_by_key_id" UUID;
ALTER TABLE "invite_batches" ADD CONSTRAINT "invite_batches_created_by_key_fkey"
  FOREIGN KEY ("organization_id", "created_by_key_id") REFERENCES "api_keys" ("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
