-- The key of an organization's rows names it.
ALTER TABLE "sign_in_domains"
  DROP CONSTRAINT "sign_in_domains_pkey",
  ADD CONSTRAINT "sign_in_domains_pkey" PRIMARY KEY USING INDEX "sign_in_domains_organization_id_key";
