# What shell scripts do with directories and links, much of it through child processes. $1 is an empty directory.
export LC_ALL=C
show() { for file; do if read -r text < "$file"; then echo "$text"; else echo "no $file"; fi; done 2>/dev/null; }
cd "$1" || exit 3
mkdir -p one/deep two/deep
echo first > one/f; echo second > two/f; echo third > one/deep/f; echo fourth > two/deep/f
ln -s one link; show link/f link/deep/f
ln -sfn two link; show link/f
ln -sfn "$1/one" link; show link/f; test -e link/deep/f && echo there
rm link; test -e link/f || echo gone; test -L link || echo no link
ln -s nowhere link; test -e link || echo dangling; test -L link && echo link
rm link; mkdir link; echo fifth > link/f; cat link/f
rm -r link; cp -r one link; show link/deep/f
mv one three; test -e one/f || echo moved; show three/f
ln -s three one; show one/f one/deep/f
for i in 1 2 3; do
	ln -sfn two flip; show flip/f
	ln -sfn three flip; show flip/f
done
mv two/deep two/kept; ln -s ../three/deep two/deep; cat two/deep/f
cd flip && pwd && pwd -P && show f ../two/f && cd .. && pwd
(cd two/deep && pwd -P && show f; cd .. && pwd -P; echo *)
(cd /b/one && ls && show sub/file nested/file; cd nested && pwd && show file && cd .. && pwd -P)
(cd /glue && echo * && cd a && echo * && cd b && ls && show file && cd ../.. && pwd)
(cd /proc && show self/comm; cd self && test -r status && echo status)
d=$(cd two && mkdir made && cd made && echo x > y && pwd); show "$d/y" two/made/y
rm -r two/made; show two/made/y; test -d two/made || echo no directory
mkdir two/made; test -d two/made && echo directory
rmdir two/made; echo file > two/made; test -f two/made && show two/made
chmod 0 two/f; test -r two/f && echo readable; chmod 644 two/f
echo */ */f
cat <<end
$(cat three/f) $(show two/f)
end
( ln -sfn two flip ) & wait; show flip/f
sh -c 'cd three && sh -c "cat f; cd deep && cat f; pwd"'
env -C three cat f 2>/dev/null || echo no -C
cd three/deep && mv ../../three ../../four; cat f; pwd -P; show ../f
cd /; show "$1/four/deep/f" "$1/one/f"
: > "$1/new"; test -e "$1/new" && echo new; rm "$1/new"; test -e "$1/new" || echo not new
cat /c/rel-file /c/abs-file /c/dangling /c/loop-a /c/self /b/one/rel /b/one/abs /b/two/guest-abs 2>&1
exit 0
