# PostgreSQL's image reads this once, when its volume is new. The service's user owns its database and may create roles, and is no
# superuser. The superuser keeps no password: `docker compose exec database psql -U postgres` works without.
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" --username=postgres --dbname=postgres <<'SQL'
create role purser login createrole password :'password';
create database purser owner purser;
alter role postgres password null;
SQL
